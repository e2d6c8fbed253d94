"""PHP's own test files as questions: a concurrent runtime answers them byte for byte as stock PHP-FPM does, N in flight.

    make phpt                                                     # fiber-fpm, 32 in flight
    make phpt CHAOS=7 OPCACHE=0 DIRS="Zend/tests ext/standard"
    python3 -m harness.differential.phpt --target php-fpm         # the control against itself

What a test file expects is not looked at: its scripts are asked, and php-fpm's answer is the right one. The files come from
Debian's source package, are kept under build/phpt and are never part of this repository. In this order:

    source.py    fetches and unpacks the package
    sections.py  reads a test file: the script, the request around it, its settings; or the reason why it cannot be asked
    tree.py      the folder that both servers serve in place; as it was at first before each pass
    servers.py   both servers, with the settings that PHP's own test runner gives to every test
    asking.py    one pass over many cases, N in flight, those that cannot be together apart
    right.py     what the control says: --SKIPIF-- first, then every script twice; what is not stable is left out
    judged.py    what the target says to the rest; wrong answers are asked for again alone, lost ones with and without company
    causes.py    differences that have been understood
    report.py    what a person reads, and the JSON
"""
