<?php // What finish.php or abort.php left, once it has ended.
$note = $_SERVER['ORDEAL_DATA'] . '/' . basename($_GET['name']);
for ($i = 0; $i < 2000 && !str_contains((string) @file_get_contents($note), 'shutdown'); $i++) {
    usleep(5000);
}
readfile($note);
