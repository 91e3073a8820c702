import type { Browser, BrowserContext, CDPSession, Page, Request } from 'playwright-core';

/** The slow line: bytes per second, and milliseconds until a response begins. */
const slowLine = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };

/** Bytes and nodes of one visit of a page. */
interface Visit {
  /** Bytes of the files of the console over the wire, with headers. */
  readonly siteBytes: number;
  /** Bytes of all other responses over the wire. */
  readonly dataBytes: number;
  readonly domNodes: number;
}

/** Visits pages of a console in new browser contexts, as a user whose tab has a key. */
export class ConsoleVisitor {
  readonly #browser: Browser;
  readonly #url: string;
  readonly #apiKey: string;

  constructor(browser: Browser, url: string, apiKey: string) {
    this.#browser = browser;
    this.#url = url;
    this.#apiKey = apiKey;
  }

  /** Visits a page, until its content and all responses have arrived. */
  async visit(place: string, content: string): Promise<Visit> {
    return this.#inTab(content, async (page) => {
      const requests: Request[] = [];
      page.on('request', (request) => requests.push(request));
      await page.goto(this.#address(place));
      await page.locator(content).first().waitFor();
      await page.waitForLoadState('networkidle');
      const bytes = { site: 0, data: 0 };
      for (const request of requests) {
        if (!request.url().startsWith(this.#url)) continue;
        const { responseHeadersSize, responseBodySize } = await request.sizes();
        const isSite = /\/console\/[^/]*$/.test(new URL(request.url()).pathname);
        bytes[isSite ? 'site' : 'data'] += responseHeadersSize + responseBodySize;
      }
      const domNodes = await page.evaluate<number>('document.querySelectorAll("*").length');
      return { siteBytes: bytes.site, dataBytes: bytes.data, domNodes };
    });
  }

  /** Visits a page over the slow line, with an empty cache and then once more in the same tab. */
  async slowVisits(
    place: string,
    content: string,
  ): Promise<{ readonly firstMs: number; readonly secondMs: number }> {
    return this.#inTab(content, async (page, devtools) => {
      await devtools.send('Network.emulateNetworkConditions', slowLine);
      const timeToContent = async () => {
        await page.goto(this.#address(place), { waitUntil: 'commit' });
        await page.locator(content).first().waitFor();
        return page.evaluate<number>('contentAt');
      };
      const firstMs = await timeToContent();
      await page.waitForLoadState('networkidle');
      await page.goto('about:blank');
      return { firstMs, secondMs: await timeToContent() };
    });
  }

  #address(place: string): string {
    return `${this.#url}/console/#${place}`;
  }

  /** Runs a function in a new tab that keeps a key, and notes the time at which the content appears. */
  async #inTab<Result>(
    content: string,
    act: (page: Page, devtools: CDPSession) => Promise<Result>,
  ): Promise<Result> {
    const context: BrowserContext = await this.#browser.newContext();
    try {
      const page = await context.newPage();
      await page.addInitScript(`
        if (location.protocol !== 'about:') sessionStorage.setItem('actlog.apiKey', ${JSON.stringify(this.#apiKey)});
        new MutationObserver(() => {
          if (document.querySelector(${JSON.stringify(content)})) globalThis.contentAt ??= performance.now();
        }).observe(document, { childList: true, subtree: true });
      `);
      const devtools = await context.newCDPSession(page);
      await devtools.send('Network.enable');
      return await act(page, devtools);
    } finally {
      await context.close();
    }
  }
}
