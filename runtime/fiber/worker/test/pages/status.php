<?php // ?line= a whole status line, ?code= a number, ?field= a Status header
if (isset($_GET['field'])) {
    header('Status: ' . $_GET['field']);
}
if (isset($_GET['line'])) {
    header($_GET['line']);
}
if (isset($_GET['code'])) {
    http_response_code((int) $_GET['code']);
}
header('X-After: yes');
echo json_encode(http_response_code());
