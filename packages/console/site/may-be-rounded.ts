/**
 * `true` if a JSON value contains an integer so large that parsing it may have changed its last digits, so that it may
 * differ from the one that was sent.
 */
export function mayBeRounded(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(mayBeRounded);
}

/**
 * Returns shown arguments as JSON over several lines.
 *
 * @param exact - the same as JSON text with all digits, if the service sent it because parsers round a number
 */
export function argumentsText(shown: unknown, exact: unknown): string {
  if (typeof exact !== 'string') return JSON.stringify(shown, null, 2);
  const { rawJSON } = JSON as { readonly rawJSON?: (source: string) => unknown };
  // Older browsers cannot parse it without rounding.
  if (!rawJSON) return exact;
  const keep = (_name: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source ? rawJSON(context.source) : value;
  return JSON.stringify(JSON.parse(exact, keep as Parameters<typeof JSON.parse>[1]), null, 2);
}
