<?php
echo implode("\n", get_loaded_extensions());
