const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size with the largest fitting binary unit, such as `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}
