"""The differential suite: a concurrent runtime answers byte for byte as stock PHP-FPM does, with many requests in flight.

    python3 -m harness.differential                      # fiber-fpm against php-fpm, 32 in flight, 3 rounds
    python3 -m harness.differential --chaos 7            # with a forced switch at every 7th internal call
    python3 -m harness.differential --mixed 30000 --fatals 0.10 --in-flight 200 --chaos 10

Each script of fixtures/differential is deterministic. The control (php-fpm) is asked first, one request at a time and twice: that
gives the right answer, and a script that differs from itself there is an error of the suite. Then the target is asked for all
of them at once, in a seeded random order, and every answer is held against the right one.

    script.py   what is asked: a script and the request that its first comment describes
    fcgi.py     how it is asked: FastCGI by hand on asyncio, one connection a request
    answer.py   what is compared, and the table of what is not
    server.py   the two servers: target files with OPcache, chaos and workers set
    suite.py    the order of the questions, and the differences found
"""
