/** Follows the JSON lines of pnpm, and shows how many packages and megabytes have arrived. */
export class InstallProgress {
  #stream;
  #unfinished = '';
  #packages = { resolved: 0, arrived: 0 };
  #bytes = { expected: new Map(), arrived: new Map() };
  #errors = [];
  #shown = '';
  #quarters = 0;

  /** @param stream terminal or file that the progress is written to */
  constructor(stream) {
    this.#stream = stream;
  }

  /** Reads a part of pnpm's output. */
  read(text) {
    const lines = (this.#unfinished + text).split('\n');
    this.#unfinished = lines.pop();
    for (const line of lines) this.#line(line);
  }

  #line(line) {
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      if (line.trim()) this.#errors.push(line);
      return;
    }
    if (entry.level === 'error') this.#errors.push(entry.err?.message ?? entry.message ?? line);
    if (entry.name === 'pnpm:progress') this.#package(entry.status);
    if (entry.name === 'pnpm:fetching-progress') this.#download(entry);
  }

  #package(status) {
    if (status === 'resolved') this.#packages.resolved += 1;
    else if (status === 'fetched' || status === 'found_in_store') this.#packages.arrived += 1;
    else return;
    this.#show();
  }

  #download({ packageId, status, size, downloaded }) {
    if (status === 'started') this.#bytes.expected.set(packageId, size ?? 0);
    else this.#bytes.arrived.set(packageId, downloaded ?? 0);
  }

  #show() {
    const { resolved, arrived } = this.#packages;
    const text = `  • packages: ${arrived} of ${resolved}, ${this.#megabytes()} MB`;
    if (this.#stream.isTTY) {
      this.#shown = text;
      this.#stream.write(`\r${text}\u001b[K`);
      return;
    }
    // A log has a line for each quarter.
    const quarters = resolved === 0 ? 0 : Math.floor((arrived / resolved) * 4);
    if (quarters > this.#quarters) this.#stream.write(`${text}\n`);
    this.#quarters = Math.max(quarters, this.#quarters);
  }

  /** Returns the megabytes of all packages whose download has begun. */
  #megabytes() {
    const sizes = [...this.#bytes.expected].map(([id, size]) => size || (this.#bytes.arrived.get(id) ?? 0));
    return (sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(0);
  }

  /** Ends the line of a terminal. */
  end() {
    if (this.#unfinished) this.#line(this.#unfinished);
    this.#unfinished = '';
    if (this.#shown) this.#stream.write('\n');
  }

  /** Returns the last errors that pnpm reported. */
  problems() {
    return this.#errors.slice(-12).join('\n').trim();
  }
}
