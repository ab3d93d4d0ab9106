import marimo

app = marimo.App(width="medium", app_title="tilewright: a network on a machine of your own")


@app.cell
def _():
    import marimo as mo

    import tilewright
    from tilewright.backends.report.charts_svg import energy_svg, roofline_svg, timeline_svg
    from tilewright.backends.report.page.summary import summary

    return energy_svg, mo, roofline_svg, summary, tilewright, timeline_svg


@app.cell
def _(mo):
    mo.md("""
    # A network on a machine of your own

    Choose what runs and what the machine has; the cells below are computed again.  Each point is compiled and
    simulated: nothing is estimated.  `pip install 'tilewright[notebook]'`, then `marimo edit explore.py`.
    """)
    return


@app.cell
def _(mo):
    model = mo.ui.text(
        "O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]; n=1 k=32 c=32 p=28 q=28 r=3 s=3", label="model", full_width=True
    )
    bandwidth = mo.ui.slider(steps=[4, 8, 16, 32, 64], value=16, label="DRAM, bytes a cycle", show_value=True)
    columns = mo.ui.slider(steps=[1, 2, 4], value=4, label="columns of the array", show_value=True)
    mo.vstack([model, bandwidth, columns])
    return bandwidth, columns, model


@app.cell
def _(bandwidth, columns, model, summary, tilewright):
    target = f"edge16:DRAM.bandwidth={bandwidth.value},MXU.instances_x={columns.value}"
    program = tilewright.compile(model.value, target)
    result = tilewright.simulate(program, functional=False, checks=False)
    answer = summary(program, result, "model")
    return answer, program, target


@app.cell
def _(answer, mo, target):
    mo.hstack(
        [
            mo.stat(f"{answer['cycles']:,}", label="cycles", caption=target),
            mo.stat(f"{100 * answer['gap']:.1f} %", label="above the least of any program", caption=answer["bound_by"]),
            mo.stat(f"{answer['dram_bytes']:,}", label="bytes off chip"),
            mo.stat(f"{answer['energy_pj'] / 1e6:.2f} uJ", label="energy"),
        ]
    )
    return


@app.cell
def _(answer, energy_svg, mo, program, roofline_svg, timeline_svg):
    mo.ui.tabs(
        {
            "timeline": mo.Html(timeline_svg(program.timeline, "units over time")),
            "roofline": mo.Html(roofline_svg(answer)),
            "energy": mo.Html(energy_svg(answer)),
        }
    )
    return


@app.cell
def _(mo):
    mo.md("""
    ## Other bandwidths

    The same kernel with each bandwidth: where the line is flat, more brings nothing.
    """)
    return


@app.cell
def _(columns, mo, model, tilewright):
    swept = [
        {"B/cycle": speed, "cycles": int(one.predicted["cycles"]), "least of any": int(one.lower_bound["cycles"])}
        for speed in (4, 8, 16, 32, 64)
        for one in (tilewright.compile(model.value, f"edge16:DRAM.bandwidth={speed},MXU.instances_x={columns.value}"),)
    ]
    mo.ui.table(swept, selection=None)
    return (swept,)


@app.cell
def _(answer, mo):
    remarks = "\n".join(f"- {remark['text']} {remark['lever']}" for remark in answer["advice"]) or "Nothing."
    mo.md(f"## What stands out, and what would change it\n\n{remarks}")
    return


if __name__ == "__main__":
    app.run()
