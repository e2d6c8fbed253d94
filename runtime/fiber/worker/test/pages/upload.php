<?php // Uploaded files, and that their temporary files are there now.
foreach ($_FILES as $name => $file) {
    $there = is_file($file['tmp_name']) && is_uploaded_file($file['tmp_name']);
    echo $name, ' ', $file['name'], ' ', $file['type'], ' ', $file['error'], ' ', $file['size'], ' ', $there ? md5_file($file['tmp_name']) : 'none', "\n";
}
echo json_encode($_POST), "\n";
file_put_contents($_SERVER['ORDEAL_DATA'] . '/uploaded', json_encode(array_column($_FILES, 'tmp_name')));
