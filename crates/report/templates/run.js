'use strict';
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // A slider shows one of the sizes of its table.
  for (const slider of all('input[type=range]')) {
    const panels = all('tbody', document.getElementById(slider.getAttribute('aria-controls')));
    const told = all('.at, output', slider.closest('section'));
    const show = () => {
      panels.forEach((panel, index) => { panel.hidden = index !== slider.valueAsNumber; });
      const size = panels[slider.valueAsNumber].dataset.size;
      told.forEach((one) => { one.textContent = size; });
      slider.setAttribute('aria-valuetext', size);
    };
    slider.addEventListener('input', show);
    slider.parentNode.hidden = false;
    show();
  }

  // All rows: sorted by a column, and filtered by words that a row must have.
  const table = document.getElementById('all');
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const headers = [...table.tHead.rows[0].cells];
  const words = new Intl.Collator(undefined, { numeric: true });
  headers.forEach((header, column) => {
    const button = header.querySelector('button');
    if (!button) return;
    button.disabled = false;
    button.addEventListener('click', () => {
      const down = header.getAttribute('aria-sort') === 'ascending';
      headers.forEach((other) => other.removeAttribute('aria-sort'));
      header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const turn = down ? -1 : 1;
      const byNumber = 'number' in header.dataset;
      const value = (row) => {
        const cell = row.cells[column];
        return byNumber ? cell.dataset.v : cell.textContent;
      };
      const sorted = [...rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        // What has no value stands last, whichever way.
        if (x === '' || y === '') return (x === '') - (y === '');
        return turn * (byNumber ? x - y : words.compare(x, y));
      });
      body.append(...sorted);
    });
  });
  const filter = document.getElementById('filter');
  const shown = document.getElementById('shown');
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(' ').toLowerCase());
  const apply = () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      const fits = wanted.every((word) => texts[index].includes(word));
      row.hidden = !fits;
      count += fits;
    });
    shown.textContent = `${count} of ${rows.length} rows`;
  };
  filter.addEventListener('input', apply);
  filter.parentNode.hidden = false;
  apply();
})();
