'use strict';
(() => {
  // The data as a file.
  const text = document.getElementById('data').textContent;
  if (text === 'null') return;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.download = `${JSON.parse(text).schema.replace(/[^a-z]+/g, '-').replace(/-$/, '')}.json`;
  link.textContent = `Save it as a file (${Math.ceil(text.length / 1024)} KB)`;
  document.getElementById('save').append(link);
})();
