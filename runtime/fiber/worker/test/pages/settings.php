<?php // Settings as the pool and the request have them; some are then changed.
foreach (explode(',', $_GET['of'] ?? 'precision') as $name) {
    $all = ini_get_all()[$name] ?? null;
    echo $name, ' ', json_encode([ini_get($name), $all]), ' ', json_encode(@ini_set($name, '7')), ' ', json_encode(ini_get($name)), ' ';
    ini_restore($name);
    echo json_encode(ini_get($name)), "\n";
}
echo 1 / 3, "\n";
