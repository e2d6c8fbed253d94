"""B6: a peer sends one TLS record of 16,000 bytes; the reads ask for less at a time.

On the audited server the first read got 8,192 bytes, and the next one waited for its whole time limit: OpenSSL had the rest
already, and the descriptor had nothing more to say.
"""

from .checks import fact
from .finding import Check, Finding

BYTES = 16000
PIECES = (8192, 100)

FINDING = Finding("B6", tried="a peer sends one TLS record of 16,000 bytes, then nothing; reads of 8,192 and of 100 bytes")


def stimulate(rig):
    peer = rig.peer("one_record", tls=True)
    return {"reads": {piece: rig.seen(rig.ask(f"/findings/b06_read.php?port={peer.port}&piece={piece}")) for piece in PIECES}}


def judge(seen):
    for piece, reply in seen["reads"].items():
        if not fact(reply, "connected"):
            yield Check(f"reads of {piece}", None, f"not connected: {reply['error'] or fact(reply, 'why')}")
            continue
        got, late = fact(reply, "bytes"), fact(reply, "timed_out")
        text = f"{got} of {BYTES} bytes in {fact(reply, 'took_s'):.2f} s" + (", the last read timed out" if late else "")
        yield Check(
            f"reads of {piece} get it all", got == BYTES and not late, text, {"bytes": got, "reads": fact(reply, "reads")}
        )
