<?php // Tells that it runs, and waits until it may go on; ?body=1 reads the body only then, ?mb= writes that much.
$n = $_GET['n'];
touch($_SERVER['ORDEAL_DATA'] . "/begun-$n");
while (!file_exists($_SERVER['ORDEAL_DATA'] . "/open-$n")) {
    clearstatcache();
    usleep(1000);
}
for ($i = 0; $i < (int) ($_GET['mb'] ?? 0); $i++) {
    echo str_repeat('0123456789abcdef', 65536);
}
if ($_GET['body'] ?? false) {
    $body = file_get_contents('php://input');
    echo strlen($body), ' ', md5($body), ' ';
}
echo "through $n";
