<?php
setcookie('a', 'b c', ['expires' => 2000000000, 'path' => '/', 'httponly' => true, 'samesite' => 'Lax']);
setrawcookie('raw', 'x');
header('X-Same: 1');
header('X-Same: 2', false);
header('X-Gone: 1');
header_remove('X-Gone');
echo json_encode($_COOKIE), json_encode(headers_list());
