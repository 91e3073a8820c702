/** Blocks as large as the totals and charts of an overview, while it loads. */
export function OverviewLoading() {
  const blocks = (count: number) => Array.from({ length: count }, (_, block) => <span key={block} />);
  return (
    <div class="overview skeleton">
      <p class="hidden">Loading…</p>
      <div class="totals">{blocks(5)}</div>
      <div class="charts">{blocks(4)}</div>
    </div>
  );
}
