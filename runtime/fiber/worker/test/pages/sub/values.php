<?php
return ['a' => 1, 'dir' => basename(__DIR__), 'cwd' => basename(getcwd())];
