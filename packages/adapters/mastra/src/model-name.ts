/** A tool's name as the model knows it: Mastra shows it one that every provider takes. */
export function nameForModel(name: string): string {
  const taken = name.replace(/[^a-zA-Z0-9_-]/g, '_');
  return (/^[a-zA-Z_]/.test(taken) ? taken : `_${taken}`).slice(0, 63);
}
