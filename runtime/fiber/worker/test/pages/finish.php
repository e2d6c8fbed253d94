<?php // The answer ends; the script goes on and leaves a note.
ignore_user_abort((bool) ($_GET['ignore'] ?? false));
ob_start();
echo 'answered ';
$note = $_SERVER['ORDEAL_DATA'] . '/finished';
@unlink($note);
register_shutdown_function(static function () use ($note): void {
    file_put_contents($note, 'shutdown ' . connection_status() . "\n", FILE_APPEND);
});
$first = fastcgi_finish_request();
echo 'not seen';
$second = fastcgi_finish_request();
file_put_contents($note, json_encode([$first, $second, headers_sent(), connection_status()]) . "\n", FILE_APPEND);
for ($i = 0; $i < (int) ($_GET['kb'] ?? 0); $i++) {
    echo str_repeat('x', 1024);
}
file_put_contents($note, 'end ' . connection_status() . "\n", FILE_APPEND);
