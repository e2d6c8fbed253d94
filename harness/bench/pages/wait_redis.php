<?php
// BLPOP on a list that stays empty, for one second: by the extension, or spoken by hand where it is not installed.
$socket = $_GET['socket'];
if (class_exists('Redis')) {
    $redis = new Redis();
    $redis->connect($socket);
    echo $redis->blPop(['nothing'], 1) ? 'something came' : 'waited';
} else {
    $redis = stream_socket_client("unix://$socket");
    fwrite($redis, "BLPOP nothing 1\r\n");
    echo fgets($redis) === "*-1\r\n" ? 'waited' : 'something else came';
}
