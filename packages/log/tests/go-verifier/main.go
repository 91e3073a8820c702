// Command go-verifier checks what @actlog/log writes with Go's golang.org/x/mod/sumdb, which was written by others. Each
// line of its input is a request as JSON, and each line of its output is "ok", "ok" and a result, or an error.
package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type request struct {
	Op      string
	Note    string
	Keys    []string
	Signer  string
	Folder  string
	Index   int64
	Size    int64
	OldSize int64
	Root    tlog.Hash
	OldRoot tlog.Hash
	Leaf    tlog.Hash
	Proof   []tlog.Hash
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<24)
	for input.Scan() {
		var r request
		err := json.Unmarshal(input.Bytes(), &r)
		result := ""
		if err == nil {
			result, err = handle(r)
		}
		if err != nil {
			fmt.Printf("error: %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Println(strings.TrimSpace("ok " + result))
		}
	}
}

func handle(r request) (string, error) {
	switch r.Op {
	case "sign":
		signer, err := note.NewSigner(r.Signer)
		if err != nil {
			return "", err
		}
		signed, err := note.Sign(&note.Note{Text: r.Note}, signer)
		return base64.StdEncoding.EncodeToString(signed), err
	case "checkpoint":
		return openCheckpoint(r)
	case "inclusion":
		return "", tlog.CheckRecord(r.Proof, r.Size, r.Root, r.Index, r.Leaf)
	case "consistency":
		return "", tlog.CheckTree(r.Proof, r.Size, r.Root, r.OldSize, r.OldRoot)
	case "tiles":
		return "", checkTiles(r)
	case "prove":
		return prove(r)
	}
	return "", errors.New("unknown op")
}

// openCheckpoint verifies the signatures and returns the names of those who signed, with origin, size and root.
func openCheckpoint(r request) (string, error) {
	var verifiers []note.Verifier
	for _, key := range r.Keys {
		verifier, err := newVerifier(key)
		if err != nil {
			return "", err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(r.Note), note.VerifierList(verifiers...))
	if err != nil {
		return "", err
	}
	lines := strings.Split(opened.Text, "\n")
	for _, signature := range opened.Sigs {
		lines = append(lines, signature.Name)
	}
	result, err := json.Marshal(lines)
	return string(result), err
}

// newVerifier reads keys of Go's own kind, and those of cosignature/v1, which Go does not have.
func newVerifier(key string) (note.Verifier, error) {
	parts := strings.SplitN(key, "+", 3)
	material, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || material[0] != 4 {
		return note.NewVerifier(key)
	}
	id, err := strconv.ParseUint(parts[1], 16, 32)
	hash := sha256.Sum256(append([]byte(parts[0]+"\n"), material...))
	if err != nil || binary.BigEndian.Uint32(hash[:]) != uint32(id) {
		return nil, errors.New("the id of the key is wrong")
	}
	return cosigner{parts[0], uint32(id), material[1:]}, nil
}

type cosigner struct {
	name string
	id   uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.id }
func (c cosigner) Verify(message, signature []byte) bool {
	if len(signature) != 72 {
		return false
	}
	time := binary.BigEndian.Uint64(signature)
	text := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, message)
	return ed25519.Verify(c.key, []byte(text), signature[8:])
}

// folderTiles reads tiles by the paths of C2SP, which lack the height that Go's have.
type folderTiles string

func (folderTiles) Height() int                                { return 8 }
func (folderTiles) SaveTiles(tiles []tlog.Tile, data [][]byte) {}
func (folder folderTiles) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		path := "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		data, err := os.ReadFile(filepath.Join(string(folder), path))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// checkTiles verifies each entry of each bundle by the tiles, and the tiles by the root.
func checkTiles(r request) error {
	reader := tlog.TileHashReader(tlog.Tree{N: r.Size, Hash: r.Root}, folderTiles(r.Folder))
	for index := int64(0); index < r.Size; {
		width := r.Size - index
		if width > 256 {
			width = 256
		}
		tile := tlog.Tile{H: 8, L: 0, N: index / 256, W: int(width)}
		path := strings.Replace(tile.Path(), "tile/8/0/", "tile/entries/", 1)
		bundle, err := os.ReadFile(filepath.Join(r.Folder, path))
		if err != nil {
			return err
		}
		var indexes []int64
		var entries [][]byte
		for ; len(bundle) >= 2; index++ {
			length := int(binary.BigEndian.Uint16(bundle))
			if len(bundle) < 2+length {
				return errors.New(path + " is cut")
			}
			entries = append(entries, bundle[2:2+length])
			indexes = append(indexes, tlog.StoredHashIndex(0, index))
			bundle = bundle[2+length:]
		}
		if len(entries) != int(width) || len(bundle) != 0 {
			return errors.New(path + " has another number of entries")
		}
		hashes, err := reader.ReadHashes(indexes)
		if err != nil {
			return err
		}
		for place, entry := range entries {
			hash := tlog.RecordHash(entry)
			if !bytes.Equal(hash[:], hashes[place][:]) {
				return fmt.Errorf("an entry of %s is not in the tree", path)
			}
		}
	}
	return nil
}

// prove returns Go's proofs of an entry and of an earlier size, from the tiles.
func prove(r request) (string, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: r.Size, Hash: r.Root}, folderTiles(r.Folder))
	inclusion, err := tlog.ProveRecord(r.Size, r.Index, reader)
	if err != nil {
		return "", err
	}
	consistency, err := tlog.ProveTree(r.Size, r.OldSize, reader)
	if err != nil {
		return "", err
	}
	result, err := json.Marshal([][]tlog.Hash{inclusion, consistency})
	return string(result), err
}
