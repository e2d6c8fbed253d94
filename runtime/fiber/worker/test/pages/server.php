<?php // All that a request is told, but for times.
header('Content-Type: text/plain');
foreach ($_SERVER as $name => $value) {
    if (!str_starts_with($name, 'REQUEST_TIME')) {
        echo "$name=", is_array($value) ? json_encode($value) : $value, "\n";
    }
}
echo json_encode([$_GET, $_POST, $_COOKIE, $_REQUEST, PHP_SAPI, getcwd() === __DIR__, get_included_files() === [__FILE__]]), "\n";
echo json_encode([getenv('SCRIPT_NAME'), getenv('HTTP_HOST'), getenv('NOT_THERE'), isset(getenv()['REQUEST_METHOD'])]), "\n";
echo json_encode(getallheaders()), json_encode(apache_request_headers()), "\n";
