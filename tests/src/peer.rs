//! A JSON-RPC client that says exactly what it is told to, and hears everything.

use serde_json::{Value, json};

use crate::socket::Socket;

pub struct Peer {
    socket: Socket,
    next_id: u64,
}

impl Peer {
    pub async fn connect(url: &str) -> Self {
        Self { socket: Socket::connect(url).await, next_id: 1 }
    }

    /// Over a connection that was made elsewhere.
    pub async fn over(stream: std::net::TcpStream, url: &str) -> Self {
        Self { socket: Socket::over(stream, url).await, next_id: 1 }
    }

    /// The next text, however long it takes; none once the connection has ended.
    pub async fn hear_for_ever(&mut self) -> Option<Value> {
        self.socket.hear_for_ever().await
    }

    /// As `say`, where the other side may have gone.
    pub async fn try_say(&mut self, text: impl Into<String>) -> bool {
        self.socket.try_say(text).await
    }

    pub async fn say(&mut self, text: impl Into<String>) {
        self.socket.say(text).await;
    }

    pub async fn say_bytes(&mut self, bytes: Vec<u8>) {
        self.socket.say_bytes(bytes).await;
    }

    /// Sends a request and returns its id.
    pub async fn ask(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id });
        self.say(request.to_string()).await;
        id
    }

    /// Sends a request and returns the whole response.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.response_to(&json!(id)).await
    }

    /// Sends a request that must succeed, and returns its result.
    pub async fn ok(&mut self, method: &str, params: Value) -> Value {
        let response = self.call(method, params).await;
        assert!(response["result"].is_object(), "{method} failed: {response}");
        response["result"].clone()
    }

    /// Sends a request that must fail, and returns the error's code and message.
    pub async fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let response = self.call(method, params).await;
        let error = &response["error"];
        assert!(error.is_object(), "{method} was not refused: {response}");
        (error["code"].as_i64().unwrap(), error["message"].as_str().unwrap().to_owned())
    }

    pub async fn initialize(&mut self, id: &str) -> Value {
        let info = json!({ "name": "story", "version": "0.2.0" });
        self.ok("initialize", json!({ "clientId": id, "clientInfo": info })).await
    }

    pub async fn subscribe(&mut self, topic: &str) {
        self.ok("subscribe", json!({ "topic": topic })).await;
    }

    pub async fn response_to(&mut self, id: &Value) -> Value {
        self.hear_where(|heard| heard.get("method").is_none() && heard["id"] == *id).await
    }

    /// The next delivery, by whichever method.
    pub async fn delivery(&mut self) -> Value {
        self.hear_where(|heard| heard.get("method").is_some()).await
    }

    pub async fn answer(&mut self, delivery: &Value, result: Value) {
        let response = json!({ "jsonrpc": "2.0", "result": result, "id": delivery["id"] });
        self.say(response.to_string()).await;
    }

    /// Takes the next delivery and says that it is processed.
    pub async fn process(&mut self) -> Value {
        let delivery = self.delivery().await;
        self.answer(&delivery, json!({ "processed": true })).await;
        delivery
    }

    async fn hear_where(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.socket.hear_where(wanted).await
    }

    /// The next text, or none once the connection has ended.
    pub async fn hear(&mut self) -> Option<Value> {
        self.socket.hear().await
    }

    /// Waits for the other side to close, and returns the code it gave.
    pub async fn closed(&mut self) -> Option<u16> {
        self.socket.closed().await
    }

    /// Ends the connection without a word, as a crash does.
    pub fn vanish(self) {
        drop(self.socket);
    }
}
