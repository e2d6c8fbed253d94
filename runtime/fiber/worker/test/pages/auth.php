<?php
echo json_encode(array_map(static fn ($name) => $_SERVER[$name] ?? null, ['PHP_AUTH_USER', 'PHP_AUTH_PW', 'PHP_AUTH_DIGEST', 'AUTH_TYPE', 'HTTP_AUTHORIZATION']));
