from hosts import Host, seen
def t(file, **env):
    with Host(file, **env) as h:
        c=h.card(); print(c)
        print(h.ask("reset",branch=0,begin={"seed":1}))
        print(h.step(0), h.step(0))
        print(h.ask("save",branch=0,token=7))
        print(h.exchange({"load":{"token":7,"branch":1}},{"load":{"token":7,"branch":2}},{"step":{"branch":1,"seen":seen(.5)}},{"step":{"branch":2,"seen":seen(.25)}},{"step":{"branch":2,"seen":seen(.25)}}))
        print(h.step(9))
        print(h.raw(b"\x93"))
        print(repr(h.end()))
for f in ("memory.py","own.py","hidden.py"): t(f)
t("memory.py",ANABRANCH_SNAPSHOT="fork")
t("memory.py",ANABRANCH_SNAPSHOT="replay")
