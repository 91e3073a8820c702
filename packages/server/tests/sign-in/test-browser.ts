import { parseSetCookie } from 'cookie';

/** Result of a navigation. */
export interface Visit {
  /** Address of the last page, with the part after `#`. */
  readonly url: string;
  readonly response: Response;
  /** All addresses on the way. */
  readonly path: readonly string[];
}

const maxRedirects = 20;

/** Cookies and navigations of a browser. Hosts that it cannot resolve are served by another address. */
export class TestBrowser {
  readonly cookies = new Map<string, string>();
  /** `Set-Cookie` headers of all responses. */
  readonly setCookies: string[] = [];
  /** Address that serves an origin, where that is another one. */
  readonly hosts: Record<string, string>;

  constructor(hosts: Record<string, string> = {}) {
    this.hosts = hosts;
  }

  /** Sends one request with the cookies, and keeps those of the response. */
  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin, pathname, search } = new URL(url);
    const response = await fetch(`${this.hosts[origin] ?? origin}${pathname}${search}`, {
      ...init,
      redirect: 'manual',
      headers: {
        ...(init.headers as Record<string, string>),
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    for (const header of response.headers.getSetCookie()) {
      this.setCookies.push(header);
      const { name, value = '', maxAge, expires } = parseSetCookie(header);
      const isDeleted = maxAge === 0 || (expires !== undefined && expires.getTime() <= Date.now());
      if (isDeleted || value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Opens an address, and follows redirects up to a page or to an address that `stop` accepts. */
  async open(url: string, init?: RequestInit, stop?: (url: string) => boolean): Promise<Visit> {
    const path = [url];
    let response = await this.send(url, init);
    for (let count = 0; count < maxRedirects; count += 1) {
      const location = response.headers.get('location');
      if (location === null) return { url: path.at(-1) as string, response, path };
      const next = new URL(location, path.at(-1)).href;
      await response.arrayBuffer();
      path.push(next);
      if (stop?.(next)) return { url: next, response, path };
      response = await this.send(next);
    }
    throw new Error(`Too many redirects: ${path.join(' → ')}`);
  }
}
