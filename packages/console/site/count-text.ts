const full = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** Formats a count in full: "12,345". */
export function countText(count: number): string {
  return full.format(count);
}

/** Formats a count for little room: "12.3K". */
export function shortCount(count: number): string {
  return count < 10_000 ? full.format(count) : compact.format(count);
}

/** Formats a part of a whole: "2.5%"; "under 0.1%" for a small one. */
export function shareText(part: number, whole: number): string {
  if (part === 0 || whole === 0) return '0%';
  const percent = (part / whole) * 100;
  if (percent < 0.1) return 'under 0.1%';
  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)}%`;
}
