const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Returns a number of bytes for people, such as `1.4 MB`. */
export function byteText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
