<?php // The body, as a stream and as PHP took it apart.
$body = file_get_contents('php://input');
echo strlen($body), ' ', md5($body), "\n", json_encode([$_POST, $_SERVER['REQUEST_METHOD'], $_SERVER['CONTENT_LENGTH'] ?? null]), "\n";
echo strlen(file_get_contents('php://input')), "\n";
