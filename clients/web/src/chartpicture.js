// A chart as a picture with its title and names.

import { DASHES, curveColour, drawn } from './chart.js';
import { theme } from './theme.js';

const WIDTH = 960,
    HEIGHT = 540,
    MARGIN = 16,
    LINE = 22;

// Draws one line of names, each after its mark; returns its lower edge.
function key(context, y, entries) {
    let x = MARGIN;
    for (const { text, colour, dash = [] } of entries) {
        const width = 34 + context.measureText(text).width;
        if (x > MARGIN && x + width > WIDTH - MARGIN) {
            x = MARGIN;
            y += LINE;
        }
        context.strokeStyle = colour;
        context.lineWidth = 3;
        context.setLineDash(dash);
        context.beginPath();
        context.moveTo(x, y - 5);
        context.lineTo(x + 24, y - 5);
        context.stroke();
        context.fillStyle = theme.colour('text');
        context.fillText(text, x + 30, y);
        x += width + 14;
    }
    return y + LINE;
}

// A PNG in the page's colours.
export async function pngOf({ title, labels, runs, ...chart }) {
    const canvas = document.createElement('canvas');
    Object.assign(canvas, { width: WIDTH, height: HEIGHT });
    const context = canvas.getContext('2d');
    context.fillStyle = theme.colour('surface');
    context.fillRect(0, 0, WIDTH, HEIGHT);
    context.fillStyle = theme.colour('text');
    context.font = 'bold 16px system-ui, sans-serif';
    context.fillText(title, MARGIN, MARGIN + 12);
    context.font = '14px system-ui, sans-serif';
    let y = key(
        context,
        MARGIN + 40,
        labels.map((text, k) => ({ text, colour: curveColour(k) })),
    );
    if (runs.length > 1) {
        const colour = theme.colour('text');
        y = key(
            context,
            y,
            runs.map((name, t) => ({ text: `${t + 1}: ${name}`, colour, dash: DASHES[t % DASHES.length] })),
        );
    }
    const plot = await drawn({ labels, ...chart }, WIDTH, HEIGHT - y);
    context.drawImage(plot, 0, y - 10, WIDTH, HEIGHT - y);
    return new Promise((done) => canvas.toBlob(done, 'image/png'));
}
