<?php // Recursion through the engine's own C functions until the C stack is used up.
if ($_GET['first'] ?? false) {
    echo str_repeat('partial ', 20000);
    flush();
}
function deep(int $n): int
{
    return $n ? array_sum(array_map('deep', [$n - 1])) + 1 : 0;
}
echo deep((int) $_GET['n']);
