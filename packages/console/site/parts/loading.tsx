/** Text for screen readers while a part of the page loads, and blocks that keep its room. */
export function Loading({
  rows = 6,
}: {
  /** Number of blocks, each as high as a row of a table. Default: 6. */
  rows?: number;
}) {
  return (
    <div class="skeleton">
      <p class="hidden">Loading…</p>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}
