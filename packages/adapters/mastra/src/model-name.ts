/** Returns the name under which the model sees a tool, which Mastra adapts to the rules of all providers. */
export function nameForModel(name: string): string {
  const taken = name.replace(/[^a-zA-Z0-9_-]/g, '_');
  return (/^[a-zA-Z_]/.test(taken) ? taken : `_${taken}`).slice(0, 63);
}
