import type { Plugin } from 'vite';

/** Path below which VitePress renders the site. No file of the finished website contains it. */
export const placeholderBase = '/__actlog_docs__/';

const virtualModule = 'virtual:site-base';

/**
 * Module whose default export is the path of the site, taken from the address of the loaded script.
 * All scripts are below `assets/`.
 */
const baseModule = "export default new URL(import.meta.url.replace(/\\/assets\\/[^?#]*$/, '/')).pathname;";

/**
 * Vite plugin that lets the scripts of one build work below any path, such as `/docs/` of a server or the path of a
 * proxy: VitePress otherwise writes the path into them.
 */
export function portableBase(): Plugin {
  const importBase = `import siteBase from '${virtualModule}';\n`;
  return {
    name: 'portable-base',
    enforce: 'post',
    resolveId: (id) => (id === virtualModule ? `\0${virtualModule}` : undefined),
    load: (id) => (id === `\0${virtualModule}` ? baseModule : undefined),
    transform(code, id, options) {
      if (options?.ssr) return undefined;
      const quoted = JSON.stringify(placeholderBase);
      if (id === '/@siteData' || id.includes('@localSearchIndex')) {
        // The data is one JSON text in a string literal.
        return `${importBase}${code.replace(/export default (JSON\.parse\()?("(?:[^"\\]|\\.)*")(\))?;?/s, (_all, open = '', literal, close = '') => `export default ${open}${literal}.replaceAll(${quoted}, siteBase)${close};`)}`;
      }
      if (!code.includes(quoted) && !code.includes('import.meta.env.BASE_URL')) return undefined;
      return (
        importBase + code.replaceAll('import.meta.env.BASE_URL', 'siteBase').replaceAll(quoted, 'siteBase')
      );
    },
  };
}
