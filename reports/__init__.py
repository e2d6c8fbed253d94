"""Reports: one self-contained HTML page for each kind of run.

A page is made in three steps, each in its own modules:

    results.json --model--> dataclasses --curves, account--> view --page, templates--> index.html

`soak` is the first page. A further page brings its own model and template and uses the shared parts:
`reader` (strict reading of JSON), `thin` and `chart` (curves), `units` (how numbers are written), `page` (rendering),
`templates/base.html.j2`, `templates/components.html.j2` and `assets/`.
"""
