<?php
// Calls an internal function n times and tells when, on the monotonic clock. With ORDEAL_CHAOS=1 each of the calls lets all
// other requests run first; without it none does.
$calls = (int) $_GET['n'];
$start = hrtime(true);
for ($i = 0; $i < $calls; $i++) {
    gc_enabled();
}
echo json_encode(['start' => $start, 'end' => hrtime(true), 'calls' => $calls]);
