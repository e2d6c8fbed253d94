<?php // Writes until its client is gone, at most ?n= times.
$note = $_SERVER['ORDEAL_DATA'] . '/aborted';
@unlink($note);
register_shutdown_function(static function () use ($note): void {
    file_put_contents($note, 'shutdown ' . connection_status() . "\n", FILE_APPEND);
});
ignore_user_abort((bool) ($_GET['ignore'] ?? false));
for ($i = 0; $i < 400; $i++) {
    echo str_repeat('y', 1000), "\n";
    flush();
    usleep(5000);
}
file_put_contents($note, "went on\n", FILE_APPEND);
