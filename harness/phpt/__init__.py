"""PHP's own test scripts, on php-fpm and on a server with many of them in flight: the answers are the same, byte for byte.

    python3 -m harness.phpt                              # fiber-fpm, 32 in flight
    python3 -m harness.phpt --chaos 7 --opcache 1 --dirs Zend/tests ext/spl

What the test files expect is not looked at: php-fpm says what is right. It is asked twice, every script in a process of its own:
first a few at a time in order, then as many at a time as the target, in a random order. Scripts with two different answers
(times, addresses, files they share with others) are counted and left out. The target then gets the rest at once.

    source.py   PHP's source package, from Debian: fetched once, of which only the tests are unpacked
    phpt.py     a test file: its sections, the request they ask for, or why it cannot be one
    stage.py    the folder that is served, fresh and at the same place for each pass
    server.py   the servers: target files with the settings that test files are written for
    run.py      the passes, and what came of each script
    unsteady.py what may differ; known.py: which scripts do, and why; audit.py: what the server says of itself
    report.py   the table, a file for each difference, JSON, one line of summary
"""
