/**
 * Lines for a shell that announce an agent: a key, a document in canonical order, a signature over it,
 * and a token that allows to announce. They work as they are, for the broker of this data folder.
 */
export function announceCommand(url: string, dataDir: string): string {
  const agents = `${url.replace(/^ws/, "http")}/agents`;
  const folder = `'${dataDir.replaceAll("'", "'\\''")}'`;
  return `openssl ecparam -name prime256v1 -genkey -noout -out agent-key.pem
key=$(openssl ec -in agent-key.pem -pubout 2>/dev/null | awk '{printf "%s\\\\n", $0}')
id=$(openssl rand -hex 16 | sed -E 's/(.{8})(.{4}).(.{3}).(.{3})(.{12})/\\1-\\2-4\\3-a\\4-\\5/')
agent='{"agent_id":"'$id'","agent_name":"echo","capabilities":{"echo":"1.0"},"public_key":"'$key'","transport":{"endpoint":"127.0.0.1:9000","type":"tcp"}}'
signature=$(printf %s "$agent" | openssl dgst -sha256 -sign agent-key.pem | openssl base64 -A)
token=$(bub token jwt --scope discover:write --data-dir ${folder})
curl ${agents} -H "Authorization: Bearer $token" -H "Content-Type: application/json" -d '{"protocol_version":"v1.0","agent":'"$agent"',"signature":"'$signature'"}'`;
}
