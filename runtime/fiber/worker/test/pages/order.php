<?php // Shutdown functions, destructors, output callbacks, and what exit() skips.
final class Last
{
    public function __construct(private string $name) {}
    public function __destruct() { echo "[destroyed $this->name]"; }
}
$first = new Last('first');
$cycle = new Last('cycle');
$ring = new stdClass();
$ring->self = $ring;
$ring->last = new Last('in a ring');
register_shutdown_function(static function (): void { echo '[shutdown 1]'; register_shutdown_function(static fn () => print '[shutdown 3]'); });
register_shutdown_function(static function (): void { echo '[shutdown 2]'; });
ob_start(static fn ($text, $phase) => "($phase:$text)");
echo 'body';
match ($_GET['end'] ?? '') {
    'exit' => exit('[exit]'),
    'throw' => throw new LogicException('on purpose'),
    'fatal' => nobody_declares_this(),
    'memory' => str_repeat('x', 1 << 40),
    default => null,
};
echo '[end]';
