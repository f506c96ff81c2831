// A chart's numbers: properties needed before drawing, and export to a file.

const APART = 50;
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// True if the runs' curves differ so much in size that small ones would be flat on a linear axis.
export function sizesDiffer(tables, names) {
    const most = [];
    for (const table of tables) {
        for (const name of names) {
            const column = table.column(name) ?? [];
            let high = 0;
            for (let i = 0; i < column.length; i++) {
                if (column[i] < 0) return false;
                if (column[i] > high && column[i] < Infinity) high = column[i];
            }
            if (high > 0) most.push(high);
        }
    }
    return Math.max(...most) > APART * Math.min(...most);
}

// Every frame that any run has, one line each. The runs' columns are "1: NAME CURVE", so that no cell begins with a
// session's name.
export function csvOf({ tables, runs, names }) {
    const frames = [...new Set(tables.flatMap(({ frames }) => [...frames]))].sort((a, b) => a - b);
    const columns = tables.flatMap((table, t) =>
        ['time', ...names].map((name) => ({
            head: tables.length > 1 ? `${t + 1}: ${runs[t]} ${name}` : name,
            value: (frame) => {
                const row = table.rowOf(frame);
                return row >= 0 && table.frames[row] === frame ? (table.at(name, row) ?? '') : '';
            },
        })),
    );
    const lines = frames.map((frame) => [frame, ...columns.map(({ value }) => value(frame))].join());
    return `${['frame', ...columns.map(({ head }) => quoted(head))].join()}\n${lines.join('\n')}\n`;
}
