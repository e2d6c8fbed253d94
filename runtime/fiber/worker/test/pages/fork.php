<?php // A child that ends with its script, and whose output is not part of the answer.
$child = pcntl_fork();
if ($child === 0) {
    usleep(1000);
    echo 'child';
    exit(0);
}
echo 'parent ', pcntl_waitpid($child, $status) === $child ? 'waited ' : 'lost it ', pcntl_wexitstatus($status);
