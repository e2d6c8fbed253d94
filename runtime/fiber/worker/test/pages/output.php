<?php // Output buffers, callbacks, flushes, bytes of all values.
ob_start(static fn ($text) => strtoupper($text));
echo 'first ';
ob_start();
echo 'second ';
ob_end_flush();
flush();
ob_flush();
for ($i = 0; $i < 256; $i++) {
    echo chr($i);
}
header_register_callback(static fn () => header('X-Late: yes'));
ob_start(null, 4096);
for ($i = 0; $i < 3000; $i++) {
    echo "line $i\n";
    if ($i % 500 === 0) {
        flush();
    }
}
echo ob_get_level();
