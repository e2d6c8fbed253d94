<?php // Does not end by itself, in the ?way= that is asked for; tells what still runs when it is ended.
$mark = static fn (string $what) => file_put_contents($_SERVER['ORDEAL_DATA'] . '/' . $_GET['n'], "$what\n", FILE_APPEND);
final class Held
{
    public function __construct(private Closure $mark) {}
    public function __destruct() { ($this->mark)('destructor'); }
}
$held = new Held($mark);
register_shutdown_function(static function () use ($mark): void {
    $mark('shutdown');
    usleep(1000);
    $mark('waited');
    while ($_GET['never'] ?? false) {
    }
});
$mark('begun');
function computes(): void { while (true) { } }
function sleeps(): void { sleep(600); }
function reads(): void { file_get_contents('php://input'); sleep(600); }
function writes(): void { while (true) { echo str_repeat('x', 65536); } }
try {
    ($_GET['way'])();
} catch (Throwable $e) {
    $mark('caught');
} finally {
    $mark('finally');
}
