/** Advice that the fixes of several problems share. */
export const createKey = `Create one with "npx actlog keys create NAME --scopes ingest,read --agents 'NAME*'" or on the console.`;
