// Asks the inspector. A token is kept for this tab alone.

const KEY = "robot_memory.token";
let askForToken = null;
let asking = null;

/** A request that was refused: the status, and why in words. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Say what asks the user for a token when one is needed; it is told whether one was refused, and returns a promise of
 * the token, "" where the user gives none. */
export function onTokenNeeded(ask) {
  askForToken = ask;
}

function headers(more) {
  const token = sessionStorage.getItem(KEY);
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

/** Ask for a token once for all requests that wait for one; return whether there is another one than `refused`. */
async function renewed(refused) {
  if ((sessionStorage.getItem(KEY) ?? "") !== refused) return true;
  asking ??= askForToken(Boolean(refused)).finally(() => { asking = null; });
  const token = await asking;
  if (token) sessionStorage.setItem(KEY, token);
  else askForToken = null; // who does not want to give one is not asked again
  return Boolean(token);
}

async function request(path, options = {}) {
  for (;;) {
    const token = sessionStorage.getItem(KEY) ?? "";
    const answer = await fetch(path, { ...options, headers: headers(options.headers ?? {}) });
    if (answer.ok) return answer;
    if (answer.status === 401 && askForToken && (await renewed(token))) continue;
    const told = await answer.json().catch(() => ({ message: answer.statusText }));
    throw new Refused(answer.status, told.message);
  }
}

export const get = async (path, signal) => (await request(path, { signal })).json();

export async function post(path, body, signal) {
  const options = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal };
  return (await request(path, options)).json();
}

/** Return `path` as of a moment in seconds, 0 for now. */
export const atMoment = (path, asOf) => (asOf ? `${path}${path.includes("?") ? "&" : "?"}as_of_s=${asOf}` : path);

/** Return the address of an object's best view for an <img>, or null where there is none. */
export async function cropUrl(id) {
  const answer = await fetch(`/api/v1/objects/${encodeURIComponent(id)}/crop`, { headers: headers({}) });
  return answer.ok ? URL.createObjectURL(await answer.blob()) : null;
}

/** Call onChange for each event of the stream of changes and onState(connected); never returns. */
export async function follow(onChange, onState) {
  for (;;) {
    try {
      const answer = await request("/api/v1/events");
      onState(true);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) {
          const data = part.split("\n").find((line) => line.startsWith("data: "));
          if (data) onChange(JSON.parse(data.slice(6)));
        }
      }
    } catch (error) {
      if (!(error instanceof TypeError) && !(error instanceof Refused)) throw error;
    }
    onState(false);
    await new Promise((resume) => setTimeout(resume, 2000));
  }
}
