<?php // Fibers of the script's own, also one that is left unfinished.
$fiber = new Fiber(static function (int $n): string {
    for (; $n > 0; $n--) {
        echo Fiber::suspend($n), ' ';
    }
    return 'done';
});
for ($n = $fiber->start(3); !$fiber->isTerminated(); $n = $fiber->resume("got $n")) {
}
echo $fiber->getReturn(), "\n";
$left = new Fiber(static function (): void {
    try {
        Fiber::suspend();
    } finally {
        echo 'finally';
    }
});
$left->start();
try {
    Fiber::suspend();
} catch (FiberError $e) {
    echo $e->getMessage(), "\n";
}
