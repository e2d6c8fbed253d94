"""The findings: what can be wrong with a PHP server that has many requests alive in one process, each shown by running.

    make audit FINDING=B1,B7          one row a finding: audited, fixed, php-fpm, or TARGET=your-target.toml

    catalogue.py      one table: every finding, what is right, how severe it is, what each column is expected to say
    b01_*.py …        one file a finding: its data, a function that stimulates a running server, one that judges what was seen
    rig.py            what a stimulus works with: requests in flight, marks, the beacon, peers, signals
    trial.py          one finding on one target: launch, stimulate, judge; a story
    audit.py          the matrix of them: columns, repetition, the mutation score

A stimulus never judges and a judge never touches the server, so a judge can be tried on facts written by hand.
"""
