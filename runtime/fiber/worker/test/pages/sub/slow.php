<?php
final class Slow
{
    public function waits(int $s): void { sleep($s); }
}
array_map([new Slow(), 'waits'], [(int) ($_GET['s'] ?? 2)]);
