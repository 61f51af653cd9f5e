// The clients of the TypeScript SDK: `@modelcontextprotocol/sdk` (1.x) and `@modelcontextprotocol/client` (2.x).
// Run from a folder that has them; the first argument is the task, the second the package.

const task = JSON.parse(process.argv[2]);
const { Client, Stdio, Sse, Http } = await (process.argv[3] === "client" ? second() : first());

async function first() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport: Stdio } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { SSEClientTransport: Sse } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const { StreamableHTTPClientTransport: Http } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  return { Client, Stdio, Sse, Http };
}

async function second() {
  const { Client, SSEClientTransport: Sse, StreamableHTTPClientTransport: Http } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport: Stdio } = await import("@modelcontextprotocol/client/stdio");
  return { Client, Stdio, Sse, Http };
}

function reach() {
  if (task.transport === "stdio") {
    const [command, ...args] = task.command;
    return new Stdio({ command, args, env: task.environment });
  }
  const Transport = task.transport === "sse" ? Sse : Http;
  return new Transport(new URL(task.url), { requestInit: { headers: task.headers } });
}

function tell(step, came) {
  console.log(JSON.stringify({ client: task.client, transport: task.transport, step, came }));
}

const texts = (blocks) => blocks.map((one) => one.text).join("");
const mode = task.era === "modern" ? "auto" : "legacy";
const client = new Client({ name: "reader", version: "1.0.0" }, { versionNegotiation: { mode } });
const transport = reach();
let spoken = null; // the older client tells its transport alone
const take = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (version) => {
  spoken = version;
  take?.(version);
};

await client.connect(transport);
tell("protocol", client.getNegotiatedProtocolVersion?.() ?? spoken);
tell("tools", (await client.listTools()).tools.map((one) => one.name).sort());
for (const [name, args] of task.calls) {
  tell(`call ${name}`, texts((await client.callTool({ name, arguments: args })).content));
}
tell("resources", (await client.listResources()).resources.map((one) => one.uri).sort());
for (const uri of task.uris) {
  tell(`read ${uri}`, texts((await client.readResource({ uri })).contents));
}
tell("prompts", (await client.listPrompts()).prompts.map((one) => one.name).sort());
const { messages } = await client.getPrompt({ name: task.prompt, arguments: task.arguments });
tell("prompt", texts(messages.map((one) => one.content)));
await client.close();
