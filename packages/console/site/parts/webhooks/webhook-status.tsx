/** State of a webhook in a word. */
export function WebhookStatus({
  status,
  failureCount,
}: {
  status: string | undefined;
  /** Failed attempts since the last success; undefined if it is not known. */
  failureCount: number | undefined;
}) {
  if (status === 'disabled') return <span class="badge bad">disabled</span>;
  if (failureCount) return <span class="badge bad">failing</span>;
  return <span class="badge good">{status ?? 'active'}</span>;
}
