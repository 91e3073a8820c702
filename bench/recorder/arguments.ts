/**
 * Returns about 200 bytes of JSON like a model's arguments; the marker lets a sink count any recorder's
 * calls.
 */
export function argumentsOf(number: number): Record<string, unknown> {
  return {
    query: `call-${String(number).padStart(6, '0')} weather in Paris tomorrow morning`,
    limit: 10,
    filters: { from: '2026-01-01', to: '2026-02-01', tags: ['a', 'b', 'c'] },
    options: { language: 'en', safe: true, page: 1, note: 'x'.repeat(22) },
  };
}
