/** About 200 bytes of JSON, as a model writes them; the marker lets a sink count the calls of any recorder. */
export function argumentsOf(number: number): Record<string, unknown> {
  return {
    query: `call-${String(number).padStart(6, '0')} weather in Paris tomorrow morning`,
    limit: 10,
    filters: { from: '2026-01-01', to: '2026-02-01', tags: ['a', 'b', 'c'] },
    options: { language: 'en', safe: true, page: 1, note: 'x'.repeat(22) },
  };
}
